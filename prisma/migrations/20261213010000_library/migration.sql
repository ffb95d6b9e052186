CREATE TABLE "library_categories" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "path" TEXT NOT NULL,

    CONSTRAINT "library_categories_pkey" PRIMARY KEY ("organization_id","id")
);

CREATE TABLE "library_imports" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "file_name" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "undone_at" TIMESTAMPTZ(3),

    CONSTRAINT "library_imports_pkey" PRIMARY KEY ("organization_id","id")
);

CREATE TABLE "library_import_rows" (
    "organization_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "question" JSONB,
    "content_hash" BYTEA,
    "notes" TEXT[] NOT NULL,
    "library_question_id" UUID,

    CONSTRAINT "library_import_rows_pkey" PRIMARY KEY ("organization_id","import_id","number")
);

CREATE TABLE "library_questions" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "category_id" UUID,
    "response_type" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" UUID,
    "import_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "library_questions_pkey" PRIMARY KEY ("organization_id","id")
);

CREATE TABLE "library_versions" (
    "organization_id" UUID NOT NULL,
    "library_question_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "version_id" UUID,
    "content_hash" BYTEA NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "library_versions_pkey" PRIMARY KEY ("organization_id","library_question_id","number")
);

ALTER TABLE "questions" ADD COLUMN "library_question_id" UUID,
  ADD COLUMN "library_number" INTEGER;

CREATE UNIQUE INDEX "library_categories_path_key" ON "library_categories"("organization_id", "path");

CREATE INDEX "library_imports_created_by_idx" ON "library_imports"("organization_id", "created_by_id");

CREATE INDEX "library_import_rows_state_idx" ON "library_import_rows"("organization_id", "import_id", "state", "number");

CREATE INDEX "library_questions_category_idx" ON "library_questions"("organization_id", "category_id", "id");

CREATE INDEX "library_questions_response_type_idx" ON "library_questions"("organization_id", "response_type", "id");

CREATE INDEX "library_questions_uses_idx" ON "library_questions"("organization_id", "uses", "id");

CREATE INDEX "library_questions_retired_at_idx" ON "library_questions"("organization_id", "retired_at", "id");

CREATE INDEX "library_questions_created_by_idx" ON "library_questions"("organization_id", "created_by_id");

CREATE INDEX "library_questions_import_idx" ON "library_questions"("organization_id", "import_id");

-- Words of the name, in either case; of each the beginning is enough.
CREATE INDEX "library_questions_search_idx" ON "library_questions" USING GIN (to_tsvector('simple', "name"));

CREATE UNIQUE INDEX "library_versions_content_key" ON "library_versions"("organization_id", "content_hash");

CREATE INDEX "library_versions_version_idx" ON "library_versions"("organization_id", "version_id");

ALTER TABLE "library_categories" ADD CONSTRAINT "library_categories_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "library_imports" ADD CONSTRAINT "library_imports_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "library_imports" ADD CONSTRAINT "library_imports_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "library_import_rows" ADD CONSTRAINT "library_import_rows_import_fkey" FOREIGN KEY ("organization_id", "import_id") REFERENCES "library_imports"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_category_fkey" FOREIGN KEY ("organization_id", "category_id") REFERENCES "library_categories"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_import_fkey" FOREIGN KEY ("organization_id", "import_id") REFERENCES "library_imports"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "library_versions" ADD CONSTRAINT "library_versions_question_fkey" FOREIGN KEY ("organization_id", "library_question_id") REFERENCES "library_questions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "library_versions" ADD CONSTRAINT "library_versions_version_fkey" FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "questions" ADD CONSTRAINT "questions_library_fkey" FOREIGN KEY ("organization_id", "library_question_id") REFERENCES "library_questions"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;

-- How many questions of assessments come from one of the library, so that a list of those without any need not look for them.
CREATE FUNCTION count_library_uses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.library_question_id IS NOT NULL THEN
    UPDATE library_questions SET uses = uses - 1
      WHERE organization_id = OLD.organization_id AND id = OLD.library_question_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.library_question_id IS NOT NULL THEN
    UPDATE library_questions SET uses = uses + 1
      WHERE organization_id = NEW.organization_id AND id = NEW.library_question_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER questions_count_library_uses AFTER INSERT OR DELETE OR UPDATE OF library_question_id ON questions
  FOR EACH ROW EXECUTE FUNCTION count_library_uses();
