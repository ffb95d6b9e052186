-- A process of a release before makes first attempts only, as the default says.
ALTER TABLE "invites" ADD COLUMN "attempt" INTEGER NOT NULL DEFAULT 1;
