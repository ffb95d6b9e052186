-- CreateTable
CREATE TABLE "organization_media_bytes" (
    "organization_id" UUID NOT NULL,
    "slot" SMALLINT NOT NULL,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "organization_media_bytes_pkey" PRIMARY KEY ("organization_id","slot")
);

-- AddForeignKey
ALTER TABLE "organization_media_bytes" ADD CONSTRAINT "organization_media_bytes_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on by hand: as in the migration invite_counts, the sums follow the submissions, whoever writes them, and parts that are uploaded
-- at the same time do not wait for one another.

ALTER TABLE "organization_media_bytes" SET (fillfactor = 50);

CREATE FUNCTION "sum_media_bytes"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO organization_media_bytes AS kept (organization_id, slot, bytes)
  SELECT id, own, COALESCE(NEW.media_bytes, 0) - COALESCE(OLD.media_bytes, 0)
  -- With its organization go its sums.
  FROM organizations WHERE id = COALESCE(NEW.organization_id, OLD.organization_id)
  ON CONFLICT (organization_id, slot) DO UPDATE SET bytes = kept.bytes + excluded.bytes;
  RETURN NULL;
END
$$;

CREATE TRIGGER "submissions_inserted_bytes" AFTER INSERT ON "submissions" FOR EACH ROW
  WHEN (NEW.media_bytes <> 0) EXECUTE FUNCTION "sum_media_bytes"();
CREATE TRIGGER "submissions_updated_bytes" AFTER UPDATE OF "media_bytes" ON "submissions" FOR EACH ROW
  WHEN (OLD.media_bytes <> NEW.media_bytes) EXECUTE FUNCTION "sum_media_bytes"();
CREATE TRIGGER "submissions_deleted_bytes" AFTER DELETE ON "submissions" FOR EACH ROW
  WHEN (OLD.media_bytes <> 0) EXECUTE FUNCTION "sum_media_bytes"();

-- TRUNCATE is the one change without rows to sum.
CREATE FUNCTION "forget_media_bytes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM organization_media_bytes;
  RETURN NULL;
END
$$;
CREATE TRIGGER "submissions_truncated" AFTER TRUNCATE ON "submissions" FOR EACH STATEMENT EXECUTE FUNCTION "forget_media_bytes"();

-- The submissions there are. The new triggers keep whoever would change them waiting until all this is in place.
INSERT INTO "organization_media_bytes"
SELECT "organization_id", 0, sum("media_bytes") FROM "submissions" WHERE "media_bytes" <> 0 GROUP BY 1;
