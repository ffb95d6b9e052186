-- CreateTable
CREATE TABLE "tag_invite_counts" (
    "organization_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "slot" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "tag_invite_counts_pkey" PRIMARY KEY ("organization_id","tag_id","slot")
);

-- AddForeignKey
ALTER TABLE "tag_invite_counts" ADD CONSTRAINT "tag_invite_counts_tag_fkey" FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: like the counts by state (migration invite_counts), and in the same slots, these follow the invites' tags, whoever
-- writes them.

ALTER TABLE "tag_invite_counts" SET (fillfactor = 50);

-- Counts the changed rows in (argument 1) or out (-1). Those that go with their tag need no count: it is gone already.
CREATE FUNCTION "count_tagged_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO tag_invite_counts AS kept (organization_id, tag_id, slot, count)
  SELECT organization_id, tag_id, own, sign * count(*) FROM changed
  WHERE EXISTS (SELECT FROM tags WHERE tags.id = tag_id) GROUP BY 1, 2
  ON CONFLICT (organization_id, tag_id, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;
CREATE TRIGGER "invite_tags_inserted" AFTER INSERT ON "invite_tags"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_tagged_invites"('1');
CREATE TRIGGER "invite_tags_deleted" AFTER DELETE ON "invite_tags"
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_tagged_invites"('-1');

CREATE FUNCTION "forget_tagged_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM tag_invite_counts;
  RETURN NULL;
END
$$;
CREATE TRIGGER "invite_tags_truncated" AFTER TRUNCATE ON "invite_tags" FOR EACH STATEMENT EXECUTE FUNCTION "forget_tagged_invites"();

-- The tags there are, from their index alone. The new triggers keep whoever would change them waiting until all this is in place.
INSERT INTO "tag_invite_counts" SELECT "organization_id", "tag_id", 0, count(*) FROM "invite_tags" GROUP BY 1, 2;
