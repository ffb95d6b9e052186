-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "sequence" BIGINT GENERATED ALWAYS AS IDENTITY,
    "position" BIGINT,
    "type" TEXT NOT NULL,
    "mode" "key_mode" NOT NULL,
    "invite_id" UUID,
    "actor_type" TEXT NOT NULL,
    "actor_id" UUID,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_numbering" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,
    "pruned" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "event_numbering_pkey" PRIMARY KEY ("id")
);

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on by hand: what schema.prisma can't express.

-- A request that records an event pays for the primary key and for this one; the numbering takes the event out of it again.
CREATE INDEX "events_unnumbered_idx" ON "events" ("sequence") WHERE "position" IS NULL;

-- For those who read, one for each set of filters.
CREATE UNIQUE INDEX "events_position_key" ON "events" ("position") WHERE "position" IS NOT NULL;
CREATE INDEX "events_mode_idx" ON "events" ("organization_id", "mode", "position") WHERE "position" IS NOT NULL;
CREATE INDEX "events_type_idx" ON "events" ("organization_id", "mode", "type", "position") WHERE "position" IS NOT NULL;
CREATE INDEX "events_invite_idx" ON "events" ("organization_id", "invite_id", "position") WHERE "position" IS NOT NULL;

-- Every event that comes in is soon updated once: what the numbering leaves behind is to be tidied up before there is much of it.
ALTER TABLE "events" SET (autovacuum_vacuum_scale_factor = 0.02);

-- There is one numbering. Its row changes all the time: room beside it keeps the changes on its page.
ALTER TABLE "event_numbering" ADD CONSTRAINT "event_numbering_one_check" CHECK ("id" = 1);
ALTER TABLE "event_numbering" SET (fillfactor = 10);
INSERT INTO "event_numbering" DEFAULT VALUES;
