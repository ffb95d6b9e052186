-- CreateTable
CREATE TABLE "organization_invite_days" (
    "organization_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "slot" SMALLINT NOT NULL,
    "invited" INTEGER NOT NULL DEFAULT 0,
    "completed" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "organization_invite_days_pkey" PRIMARY KEY ("organization_id","day","slot")
);

-- AddForeignKey
ALTER TABLE "organization_invite_days" ADD CONSTRAINT "organization_invite_days_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on by hand: like the counts by state, these follow the invites, whoever writes them.

ALTER TABLE "organization_invite_days" SET (fillfactor = 50);

CREATE FUNCTION "utc_day"(at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE RETURN (at AT TIME ZONE 'UTC')::date;

-- As in the migration invite_counts, and in the same slot the days on which new invites were made. Those that are completed already are
-- counted by move_invite_days: most are not, and pay for one count more only.
CREATE OR REPLACE FUNCTION "count_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
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

  IF TG_OP = 'INSERT' THEN
    INSERT INTO organization_invite_days AS kept (organization_id, day, slot, invited)
    SELECT organization_id, utc_day(created_at), own, count(*) FROM changed WHERE completed_at IS NULL GROUP BY 1, 2
    ON CONFLICT (organization_id, day, slot) DO UPDATE SET invited = kept.invited + excluded.invited;
  END IF;
  RETURN NULL;
END
$$;

-- Counts one row out of the days it had, and into those it has.
CREATE FUNCTION "move_invite_days"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO organization_invite_days AS kept (organization_id, day, slot, invited, completed)
  SELECT organization_id, day, own, sum(invited), sum(completed)
  FROM (VALUES
    (OLD.organization_id, utc_day(OLD.created_at), -1, 0), (NEW.organization_id, utc_day(NEW.created_at), 1, 0),
    (OLD.organization_id, utc_day(OLD.completed_at), 0, -1), (NEW.organization_id, utc_day(NEW.completed_at), 0, 1)
  ) AS moved (organization_id, day, invited, completed)
  -- A new row has had no days. With its organization go its days.
  WHERE day IS NOT NULL AND EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2
  ON CONFLICT (organization_id, day, slot) DO UPDATE
    SET invited = kept.invited + excluded.invited, completed = kept.completed + excluded.completed;
  RETURN NULL;
END
$$;

CREATE TRIGGER "invites_inserted_completed" AFTER INSERT ON "invites" FOR EACH ROW
  WHEN (NEW.completed_at IS NOT NULL) EXECUTE FUNCTION "move_invite_days"();
CREATE TRIGGER "invites_updated_days" AFTER UPDATE ON "invites" FOR EACH ROW
  WHEN (OLD.completed_at IS DISTINCT FROM NEW.completed_at OR OLD.created_at IS DISTINCT FROM NEW.created_at
    OR OLD.organization_id IS DISTINCT FROM NEW.organization_id)
  EXECUTE FUNCTION "move_invite_days"();
CREATE TRIGGER "invites_deleted_days" AFTER DELETE ON "invites" FOR EACH ROW EXECUTE FUNCTION "move_invite_days"();

CREATE FUNCTION "forget_invite_days"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM organization_invite_days;
  RETURN NULL;
END
$$;
CREATE TRIGGER "invites_truncated_days" AFTER TRUNCATE ON "invites" FOR EACH STATEMENT EXECUTE FUNCTION "forget_invite_days"();

-- The days that are shown, from the indexes by time. The new triggers keep whoever would change invites waiting until all this is in place.
INSERT INTO "organization_invite_days" ("organization_id", "day", "slot", "invited")
SELECT o."id", utc_day(i."created_at"), 0, count(*)
FROM "organizations" o CROSS JOIN LATERAL (
  SELECT "created_at" FROM "invites" WHERE "organization_id" = o."id" AND "created_at" >= date_trunc('day', now(), 'UTC') - interval '31 days'
) i GROUP BY 1, 2;
INSERT INTO "organization_invite_days" AS kept ("organization_id", "day", "slot", "completed")
SELECT o."id", utc_day(i."completed_at"), 0, count(*)
FROM "organizations" o CROSS JOIN LATERAL (
  SELECT "completed_at" FROM "invites" WHERE "organization_id" = o."id" AND "completed_at" >= date_trunc('day', now(), 'UTC') - interval '31 days'
) i GROUP BY 1, 2
ON CONFLICT ("organization_id", "day", "slot") DO UPDATE SET "completed" = excluded."completed";
