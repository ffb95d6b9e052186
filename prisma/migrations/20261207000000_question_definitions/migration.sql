ALTER TABLE "paper_questions" ADD COLUMN "shown" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  ADD COLUMN "version_id" UUID;

ALTER TABLE "questions" ADD COLUMN "version_id" UUID;

ALTER TABLE "takes" ADD COLUMN "value" JSONB;

CREATE TABLE "question_versions" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "response_type" TEXT NOT NULL,
    "spec" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sealed_at" TIMESTAMPTZ(3),

    CONSTRAINT "question_versions_pkey" PRIMARY KEY ("organization_id","id")
);

-- Apart from what is shown: no page of a candidate reads it.
CREATE TABLE "question_keys" (
    "organization_id" UUID NOT NULL,
    "version_id" UUID NOT NULL,
    "number" SMALLINT NOT NULL,
    "key" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "question_keys_pkey" PRIMARY KEY ("organization_id","version_id","number")
);

CREATE TABLE "question_scores" (
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "key_number" SMALLINT NOT NULL,
    "points" DECIMAL(11,1),
    "parts" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "question_scores_pkey" PRIMARY KEY ("organization_id","submission_id","question_number","key_number")
);

ALTER TABLE "questions" ADD CONSTRAINT "questions_version_fkey" FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "question_versions" ADD CONSTRAINT "question_versions_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "question_keys" ADD CONSTRAINT "question_keys_version_fkey" FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "paper_questions" ADD CONSTRAINT "paper_questions_version_fkey" FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "question_scores" ADD CONSTRAINT "question_scores_question_fkey" FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "paper_questions"("organization_id", "submission_id", "number") ON DELETE CASCADE ON UPDATE NO ACTION;
