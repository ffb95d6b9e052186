-- Acts on test data are told apart in the audit log.
ALTER TABLE "audit_entries" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';

-- CreateTable
CREATE TABLE "media_leftovers" (
    "id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "refused_at" TIMESTAMPTZ(3),

    CONSTRAINT "media_leftovers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "media_leftovers_deleted_at_idx" ON "media_leftovers"("deleted_at");

-- From here on by hand: whatever deletes the row of a photo or recording, its files are found and removed.
CREATE FUNCTION "leave_media_files"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO media_leftovers (id, key, deleted_at) VALUES (OLD.id, OLD.key, now()) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER "media_deleted" AFTER DELETE ON "media"
  FOR EACH ROW WHEN (OLD.removed_at IS NULL) EXECUTE FUNCTION "leave_media_files"();
