-- Constant defaults: no row is written.
ALTER TABLE "library_versions" ADD COLUMN "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

ALTER TABLE "paper_questions" ADD COLUMN "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
  ADD COLUMN "play_used_at" TIMESTAMPTZ(3);

ALTER TABLE "question_versions" ADD COLUMN "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

ALTER TABLE "questions" ADD COLUMN "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

CREATE TABLE "assets" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "content_type" TEXT NOT NULL DEFAULT '',
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "sha256" BYTEA,
    "width" INTEGER,
    "height" INTEGER,
    "milliseconds" INTEGER,
    "told_parts" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "join_faults" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "unused_since" TIMESTAMPTZ(3),

    CONSTRAINT "assets_pkey" PRIMARY KEY ("organization_id","id")
);

CREATE TABLE "asset_parts" (
    "organization_id" UUID NOT NULL,
    "asset_id" UUID NOT NULL,
    "segment" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "asset_parts_pkey" PRIMARY KEY ("organization_id","asset_id","segment","number")
);

CREATE INDEX "assets_sha256_idx" ON "assets"("organization_id", "sha256");

CREATE INDEX "assets_created_by_idx" ON "assets"("organization_id", "created_by_id");

CREATE INDEX "assets_checked_at_idx" ON "assets"("checked_at");

CREATE UNIQUE INDEX "assets_key_key" ON "assets"("key");

ALTER TABLE "assets" ADD CONSTRAINT "assets_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "assets" ADD CONSTRAINT "assets_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "asset_parts" ADD CONSTRAINT "asset_parts_asset_fkey" FOREIGN KEY ("organization_id", "asset_id") REFERENCES "assets"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- What an organization's assets take counts as its recordings do, whoever writes them.
CREATE FUNCTION "sum_asset_bytes"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO organization_media_bytes AS kept (organization_id, slot, bytes)
  SELECT id, own, COALESCE(NEW.bytes, 0) - COALESCE(OLD.bytes, 0)
  -- With its organization go its sums.
  FROM organizations WHERE id = COALESCE(NEW.organization_id, OLD.organization_id)
  ON CONFLICT (organization_id, slot) DO UPDATE SET bytes = kept.bytes + excluded.bytes;
  RETURN NULL;
END
$$;
CREATE TRIGGER "assets_inserted_bytes" AFTER INSERT ON "assets" FOR EACH ROW
  WHEN (NEW.bytes <> 0) EXECUTE FUNCTION "sum_asset_bytes"();
CREATE TRIGGER "assets_updated_bytes" AFTER UPDATE OF "bytes" ON "assets" FOR EACH ROW
  WHEN (OLD.bytes <> NEW.bytes) EXECUTE FUNCTION "sum_asset_bytes"();
CREATE TRIGGER "assets_deleted_bytes" AFTER DELETE ON "assets" FOR EACH ROW
  WHEN (OLD.bytes <> 0) EXECUTE FUNCTION "sum_asset_bytes"();

-- Whatever deletes an asset, its files are found and removed.
CREATE TRIGGER "assets_deleted" AFTER DELETE ON "assets" FOR EACH ROW EXECUTE FUNCTION "leave_media_files"();
