-- CreateTable
CREATE TABLE "erasures" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "address_code" BYTEA NOT NULL,
    "sealed_address" BYTEA,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "step" TEXT NOT NULL,
    "counts" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "backups_until" TIMESTAMPTZ(3),

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateTable
CREATE TABLE "erased_invites" (
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "erasure_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "thing_ids" UUID[] DEFAULT ARRAY[]::UUID[],

    CONSTRAINT "erased_invites_pkey" PRIMARY KEY ("organization_id","invite_id")
);

-- CreateTable
CREATE TABLE "erased_invite_counts" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "erased_invite_counts_pkey" PRIMARY KEY ("organization_id","assessment_id","mode")
);

-- CreateTable
CREATE TABLE "erased_results" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "points" DECIMAL(16,1) NOT NULL,
    "of_points" BIGINT NOT NULL,

    CONSTRAINT "erased_results_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE INDEX "erasures_created_at_idx" ON "erasures"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "erased_invites_erasure_idx" ON "erased_invites"("organization_id", "erasure_id", "invite_id");

-- CreateIndex
CREATE INDEX "erased_invites_invite_idx" ON "erased_invites"("invite_id");

-- CreateIndex
CREATE INDEX "erased_results_assessment_idx" ON "erased_results"("organization_id", "assessment_id", "mode");

-- AddForeignKey
ALTER TABLE "erasures" ADD CONSTRAINT "erasures_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "erased_invites" ADD CONSTRAINT "erased_invites_erasure_fkey" FOREIGN KEY ("organization_id", "erasure_id") REFERENCES "erasures"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "erased_invite_counts" ADD CONSTRAINT "erased_invite_counts_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "erased_invite_counts" ADD CONSTRAINT "erased_invite_counts_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "erased_results" ADD CONSTRAINT "erased_results_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "erased_results" ADD CONSTRAINT "erased_results_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

-- Of one address one runs at a time: asked for again, it is the one that runs.
CREATE UNIQUE INDEX "erasures_running_key" ON "erasures"("organization_id", "address_code") WHERE "finished_at" IS NULL;

-- The sums of the past stay where a transaction erases invites and says so: of the days on which they were made and completed, and of
-- what was given for questions. How many there are in which state is counted as always, because lists go by it.
CREATE OR REPLACE FUNCTION "move_invite_days"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('assessments.keeps_sums', true) = 'on' THEN RETURN NULL; END IF;
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

CREATE OR REPLACE FUNCTION "subtract_release"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('assessments.keeps_sums', true) = 'on' THEN RETURN OLD; END IF;
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
