-- Writers of invites and what follows them wait until all this is in place: none of them counts by a function that is replaced under it.
LOCK TABLE "invites", "invite_tags", "submissions", "releases" IN SHARE ROW EXCLUSIVE MODE;

ALTER TABLE "invite_batches" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "submissions" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "invite_tags" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "organization_invite_counts" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "organization_invite_days" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "assessment_invite_counts" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "tag_invite_counts" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';
ALTER TABLE "question_results" ADD COLUMN "mode" "key_mode" NOT NULL DEFAULT 'live';

ALTER TABLE "organization_invite_counts" DROP CONSTRAINT "organization_invite_counts_pkey",
  ADD CONSTRAINT "organization_invite_counts_pkey" PRIMARY KEY ("organization_id", "mode", "status", "slot");
ALTER TABLE "organization_invite_days" DROP CONSTRAINT "organization_invite_days_pkey",
  ADD CONSTRAINT "organization_invite_days_pkey" PRIMARY KEY ("organization_id", "mode", "day", "slot");
ALTER TABLE "assessment_invite_counts" DROP CONSTRAINT "assessment_invite_counts_pkey",
  ADD CONSTRAINT "assessment_invite_counts_pkey" PRIMARY KEY ("assessment_id", "mode", "status", "slot");
ALTER TABLE "tag_invite_counts" DROP CONSTRAINT "tag_invite_counts_pkey",
  ADD CONSTRAINT "tag_invite_counts_pkey" PRIMARY KEY ("organization_id", "tag_id", "mode", "slot");
ALTER TABLE "question_results" DROP CONSTRAINT "question_results_pkey",
  ADD CONSTRAINT "question_results_pkey" PRIMARY KEY ("organization_id", "assessment_id", "mode", "question_id");

-- From here on by hand: what follows an invite has its mode, which never changes, whoever writes it.

CREATE OR REPLACE FUNCTION "copy_grader"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT assigned_grader_id, coalesce(mode, NEW.mode) INTO NEW.grader_id, NEW.mode
  FROM (VALUES (true)) AS always LEFT JOIN invites ON organization_id = NEW.organization_id AND id = NEW.invite_id;
  RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION "order_invite_tag"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT mode, status, sent_at, expires_at INTO NEW.mode, NEW.status, NEW.sent_at, NEW.expires_at
  FROM invites WHERE id = NEW.invite_id FOR SHARE;
  RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION "count_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, mode, status, slot, count)
  SELECT organization_id, assessment_id, mode, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3, 4
  ON CONFLICT (assessment_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, mode, status, slot, count)
  SELECT organization_id, mode, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  IF TG_OP = 'INSERT' THEN
    INSERT INTO organization_invite_days AS kept (organization_id, mode, day, slot, invited)
    SELECT organization_id, mode, utc_day(created_at), own, count(*) FROM changed WHERE completed_at IS NULL GROUP BY 1, 2, 3
    ON CONFLICT (organization_id, mode, day, slot) DO UPDATE SET invited = kept.invited + excluded.invited;
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "count_deleted_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, mode, status, slot, count)
  SELECT organization_id, assessment_id, mode, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM assessments WHERE assessments.id = assessment_id) GROUP BY 1, 2, 3, 4
  ON CONFLICT (assessment_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, mode, status, slot, count)
  SELECT organization_id, mode, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "move_invite_days"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO organization_invite_days AS kept (organization_id, mode, day, slot, invited, completed)
  SELECT organization_id, mode, day, own, sum(invited), sum(completed)
  FROM (VALUES
    (OLD.organization_id, OLD.mode, utc_day(OLD.created_at), -1, 0), (NEW.organization_id, NEW.mode, utc_day(NEW.created_at), 1, 0),
    (OLD.organization_id, OLD.mode, utc_day(OLD.completed_at), 0, -1), (NEW.organization_id, NEW.mode, utc_day(NEW.completed_at), 0, 1)
  ) AS moved (organization_id, mode, day, invited, completed)
  -- A new row has had no days. With its organization go its days.
  WHERE day IS NOT NULL AND EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, day, slot) DO UPDATE
    SET invited = kept.invited + excluded.invited, completed = kept.completed + excluded.completed;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "count_tagged_invites"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO tag_invite_counts AS kept (organization_id, tag_id, mode, slot, count)
  SELECT organization_id, tag_id, mode, own, sign * count(*) FROM changed
  WHERE EXISTS (SELECT FROM tags WHERE tags.id = tag_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, tag_id, mode, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "sum_release"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO question_results AS kept (organization_id, assessment_id, mode, question_id, results, points, of_points)
  SELECT s.organization_id, s.assessment_id, s.mode, p.question_id, sum(sign), sum(sign * g.points), sum(sign * p.points)
  FROM (
    SELECT 1 AS sign, NEW.grades AS grades
    UNION ALL
    (SELECT -1, grades FROM releases
     WHERE organization_id = NEW.organization_id AND submission_id = NEW.submission_id AND version < NEW.version ORDER BY version DESC LIMIT 1)
  ) AS given
  CROSS JOIN jsonb_to_recordset(given.grades) AS g (number int, points numeric)
  JOIN submissions s ON s.organization_id = NEW.organization_id AND s.id = NEW.submission_id
  JOIN paper_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id AND p.number = g.number
  WHERE g.points IS NOT NULL AND p.points > 0
  GROUP BY s.organization_id, s.assessment_id, s.mode, p.question_id
  ORDER BY p.question_id
  ON CONFLICT (organization_id, assessment_id, mode, question_id) DO UPDATE SET
    results = kept.results + excluded.results, points = kept.points + excluded.points, of_points = kept.of_points + excluded.of_points;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION "subtract_release"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM assessments a JOIN organizations o ON o.id = a.organization_id
    WHERE a.organization_id = OLD.organization_id AND a.id = OLD.assessment_id
  ) THEN RETURN OLD; END IF;
  -- Locked in the order in which releases count, so that neither locks the other out.
  PERFORM FROM question_results q
  WHERE q.organization_id = OLD.organization_id AND q.assessment_id = OLD.assessment_id AND q.mode = OLD.mode AND q.question_id IN (
    SELECT question_id FROM paper_questions WHERE organization_id = OLD.organization_id AND submission_id = OLD.id
  ) ORDER BY q.question_id FOR NO KEY UPDATE;
  UPDATE question_results AS kept SET
    results = kept.results - gone.results, points = kept.points - gone.points, of_points = kept.of_points - gone.of_points
  FROM (
    SELECT p.question_id, count(*) AS results, sum(g.points) AS points, sum(p.points) AS of_points
    FROM (SELECT grades FROM releases WHERE organization_id = OLD.organization_id AND submission_id = OLD.id ORDER BY version DESC LIMIT 1) AS newest
    CROSS JOIN jsonb_to_recordset(newest.grades) AS g (number int, points numeric)
    JOIN paper_questions p ON p.organization_id = OLD.organization_id AND p.submission_id = OLD.id AND p.number = g.number
    WHERE g.points IS NOT NULL AND p.points > 0
    GROUP BY p.question_id
  ) AS gone
  WHERE kept.organization_id = OLD.organization_id AND kept.assessment_id = OLD.assessment_id AND kept.mode = OLD.mode
    AND kept.question_id = gone.question_id;
  RETURN OLD;
END $$;

-- What there is of test invites: few.
CREATE TEMPORARY TABLE "test_invites" ON COMMIT DROP AS
SELECT "organization_id", "assessment_id", "id", "status", "created_at", "completed_at" FROM "invites" WHERE "mode" = 'test';

UPDATE "submissions" SET "mode" = 'test' FROM "test_invites" t
WHERE "submissions"."organization_id" = t."organization_id" AND "submissions"."invite_id" = t."id";
UPDATE "invite_tags" SET "mode" = 'test' FROM "test_invites" t WHERE "invite_tags"."invite_id" = t."id";

-- Their counts, moved from one mode to the other: a slot's may be negative.
INSERT INTO "assessment_invite_counts" AS kept ("organization_id", "assessment_id", "mode", "status", "slot", "count")
SELECT "organization_id", "assessment_id", "mode", "status", 0, sum("sign")
FROM "test_invites", (VALUES ('live'::key_mode, -1), ('test', 1)) AS moved ("mode", "sign") GROUP BY 1, 2, 3, 4
ON CONFLICT ("assessment_id", "mode", "status", "slot") DO UPDATE SET "count" = kept."count" + excluded."count";
INSERT INTO "organization_invite_counts" AS kept ("organization_id", "mode", "status", "slot", "count")
SELECT "organization_id", "mode", "status", 0, sum("sign")
FROM "test_invites", (VALUES ('live'::key_mode, -1), ('test', 1)) AS moved ("mode", "sign") GROUP BY 1, 2, 3
ON CONFLICT ("organization_id", "mode", "status", "slot") DO UPDATE SET "count" = kept."count" + excluded."count";
INSERT INTO "tag_invite_counts" AS kept ("organization_id", "tag_id", "mode", "slot", "count")
SELECT it."organization_id", it."tag_id", moved."mode", 0, sum("sign")
FROM "invite_tags" it, (VALUES ('live'::key_mode, -1), ('test', 1)) AS moved ("mode", "sign") WHERE it."mode" = 'test' GROUP BY 1, 2, 3
ON CONFLICT ("organization_id", "tag_id", "mode", "slot") DO UPDATE SET "count" = kept."count" + excluded."count";
-- Of the days that are kept only.
INSERT INTO "organization_invite_days" AS kept ("organization_id", "mode", "day", "slot", "invited", "completed")
SELECT d."organization_id", moved."mode", d."day", 0, sum(d."invited" * "sign"), sum(d."completed" * "sign")
FROM (
  SELECT "organization_id", utc_day("created_at") AS "day", 1 AS "invited", 0 AS "completed" FROM "test_invites"
  UNION ALL SELECT "organization_id", utc_day("completed_at"), 0, 1 FROM "test_invites" WHERE "completed_at" IS NOT NULL
) d, (VALUES ('live'::key_mode, -1), ('test', 1)) AS moved ("mode", "sign")
WHERE EXISTS (SELECT FROM "organization_invite_days" k WHERE k."organization_id" = d."organization_id" AND k."day" = d."day" AND k."mode" = 'live')
GROUP BY 1, 2, 3
ON CONFLICT ("organization_id", "mode", "day", "slot") DO UPDATE
  SET "invited" = kept."invited" + excluded."invited", "completed" = kept."completed" + excluded."completed";
-- What was released of them, from their newest results.
CREATE TEMPORARY TABLE "test_results" ON COMMIT DROP AS
SELECT s.organization_id, s.assessment_id, p.question_id, count(*) AS results, sum(g.points) AS points, sum(p.points) AS of_points
FROM (SELECT DISTINCT ON (r.organization_id, r.submission_id) r.* FROM releases r JOIN submissions t ON t.id = r.submission_id AND t.mode = 'test'
  ORDER BY r.organization_id, r.submission_id, r.version DESC) AS newest
CROSS JOIN jsonb_to_recordset(newest.grades) AS g (number int, points numeric)
JOIN submissions s ON s.organization_id = newest.organization_id AND s.id = newest.submission_id
JOIN paper_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id AND p.number = g.number
WHERE g.points IS NOT NULL AND p.points > 0
GROUP BY 1, 2, 3;
INSERT INTO "question_results" AS kept ("organization_id", "assessment_id", "mode", "question_id", "results", "points", "of_points")
SELECT "organization_id", "assessment_id", "mode", "question_id", "results" * "sign", "points" * "sign", "of_points" * "sign"
FROM "test_results", (VALUES ('live'::key_mode, -1), ('test', 1)) AS moved ("mode", "sign")
ON CONFLICT ("organization_id", "assessment_id", "mode", "question_id") DO UPDATE SET
  "results" = kept."results" + excluded."results", "points" = kept."points" + excluded."points", "of_points" = kept."of_points" + excluded."of_points";
