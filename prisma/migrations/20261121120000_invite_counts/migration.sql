-- CreateTable
CREATE TABLE "organization_invite_counts" (
    "organization_id" UUID NOT NULL,
    "status" "invite_status" NOT NULL,
    "slot" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "organization_invite_counts_pkey" PRIMARY KEY ("organization_id","status","slot")
);

-- CreateTable
CREATE TABLE "assessment_invite_counts" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "status" "invite_status" NOT NULL,
    "slot" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "assessment_invite_counts_pkey" PRIMARY KEY ("assessment_id","status","slot")
);

-- AddForeignKey
ALTER TABLE "organization_invite_counts" ADD CONSTRAINT "organization_invite_counts_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assessment_invite_counts" ADD CONSTRAINT "assessment_invite_counts_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: the counts follow the invites, whoever writes them.

-- Their rows change all the time: room beside them keeps the changes out of the indexes.
ALTER TABLE "organization_invite_counts" SET (fillfactor = 50);
ALTER TABLE "assessment_invite_counts" SET (fillfactor = 50);

-- A transaction counts in the lowest slot that is no other's at the time. It never waits for another one's counts: invites are made as
-- fast for one assessment as for many, and no two transactions can wait for each other here.
CREATE FUNCTION "claim_count_slot"() RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE
  slot smallint := 0;
BEGIN
  WHILE NOT pg_try_advisory_xact_lock('invites'::regclass::oid::int, slot) LOOP
    slot := slot + 1;
  END LOOP;
  RETURN slot;
END
$$;

-- Counts the changed rows in (argument 1) or out (-1).
CREATE FUNCTION "count_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, status, slot, count)
  SELECT organization_id, assessment_id, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3
  ON CONFLICT (assessment_id, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, status, slot, count)
  SELECT organization_id, status, own, sign * count(*) FROM changed GROUP BY 1, 2
  ON CONFLICT (organization_id, status, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;

-- The same for deleted rows. Those that go with their assessment or organization need no count: theirs are gone already.
CREATE FUNCTION "count_deleted_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, status, slot, count)
  SELECT organization_id, assessment_id, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM assessments WHERE assessments.id = assessment_id) GROUP BY 1, 2, 3
  ON CONFLICT (assessment_id, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, status, slot, count)
  SELECT organization_id, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2
  ON CONFLICT (organization_id, status, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;

CREATE TRIGGER "invites_inserted" AFTER INSERT ON "invites"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_invites"('1');
CREATE TRIGGER "invites_updated_from" AFTER UPDATE ON "invites"
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_invites"('-1');
CREATE TRIGGER "invites_updated_to" AFTER UPDATE ON "invites"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_invites"('1');
CREATE TRIGGER "invites_deleted" AFTER DELETE ON "invites"
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "count_deleted_invites"();

-- TRUNCATE is the one change without rows to count.
CREATE FUNCTION "forget_invite_counts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM assessment_invite_counts;
  DELETE FROM organization_invite_counts;
  RETURN NULL;
END
$$;
CREATE TRIGGER "invites_truncated" AFTER TRUNCATE ON "invites" FOR EACH STATEMENT EXECUTE FUNCTION "forget_invite_counts"();

-- The invites there are. The new triggers keep whoever would change them waiting until all this is in place.
INSERT INTO "assessment_invite_counts"
SELECT "organization_id", "assessment_id", "status", 0, count(*) FROM "invites" GROUP BY 1, 2, 3;
INSERT INTO "organization_invite_counts"
SELECT "organization_id", "status", 0, sum("count") FROM "assessment_invite_counts" GROUP BY 1, 2;
