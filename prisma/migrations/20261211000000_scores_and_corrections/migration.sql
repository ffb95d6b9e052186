-- Null from the start of a paper with questions that score themselves until they are scored. Whatever knows nothing of it is for people.
ALTER TABLE "submissions" ADD COLUMN "needs_people" BOOLEAN DEFAULT true,
  ADD COLUMN "penalty_percent" SMALLINT NOT NULL DEFAULT 0;

ALTER TABLE "question_keys" ADD COLUMN "effect" TEXT NOT NULL DEFAULT 'key',
  ADD COLUMN "reason" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "created_by_id" UUID,
  ADD COLUMN "releases" TEXT,
  ADD COLUMN "applied_at" TIMESTAMPTZ(3);

ALTER TABLE "question_scores" ADD COLUMN "dropped" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "assessments" ADD COLUMN "penalty_percent" SMALLINT NOT NULL DEFAULT 0,
  ADD COLUMN "auto_release_by_id" UUID,
  ADD COLUMN "auto_release_to_candidate" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "question_keys" ADD CONSTRAINT "question_keys_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "assessments" ADD CONSTRAINT "assessments_auto_release_by_fkey" FOREIGN KEY ("organization_id", "auto_release_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
