ALTER TABLE "question_keys" ADD COLUMN "progress" JSONB;

ALTER TABLE "question_scores" ADD COLUMN "outcome" TEXT;

ALTER TABLE "question_versions" ADD COLUMN "replaces_id" UUID;
