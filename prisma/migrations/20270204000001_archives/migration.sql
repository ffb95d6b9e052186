-- CreateTable
CREATE TABLE "archives" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "address_code" BYTEA,
    "sealed_address" BYTEA,
    "member_id" UUID,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "key" TEXT,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "fetched_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archives_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE INDEX "archives_created_at_idx" ON "archives"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "archives_member_idx" ON "archives"("organization_id", "member_id");

-- CreateIndex
CREATE INDEX "archives_expires_at_idx" ON "archives"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "archives_key_key" ON "archives"("key");

-- AddForeignKey
ALTER TABLE "archives" ADD CONSTRAINT "archives_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "archives" ADD CONSTRAINT "archives_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand.

-- Of one candidate, and of one member, one is made at a time: asked for again, it is the one that is being made.
CREATE UNIQUE INDEX "archives_making_candidate_key" ON "archives"("organization_id", "address_code") WHERE "finished_at" IS NULL;
CREATE UNIQUE INDEX "archives_making_member_key" ON "archives"("organization_id", "member_id") WHERE "finished_at" IS NULL;

-- Whatever deletes the row, its file is found and removed.
CREATE TRIGGER "archives_deleted" AFTER DELETE ON "archives"
  FOR EACH ROW WHEN (OLD.key IS NOT NULL) EXECUTE FUNCTION "leave_media_files"();
