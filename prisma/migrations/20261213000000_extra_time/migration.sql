ALTER TABLE "invites" ADD COLUMN "extra_time_percent" SMALLINT NOT NULL DEFAULT 0;

ALTER TABLE "submissions" ADD COLUMN "extra_time_percent" SMALLINT NOT NULL DEFAULT 0;
