-- AlterTable
ALTER TABLE "assessments" ADD COLUMN     "graded_blind" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "second_grader" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "submissions" ADD COLUMN     "grader_id" UUID,
ADD COLUMN     "released_at" TIMESTAMPTZ(3),
ADD COLUMN     "second_grader_id" UUID;

-- CreateTable
CREATE TABLE "grades" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "grader_id" UUID NOT NULL,
    "round" SMALLINT NOT NULL,
    "points" DECIMAL(11,1),
    "comment" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "grades_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "grade_viewers" (
    "submission_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "grade_viewers_pkey" PRIMARY KEY ("submission_id","member_id")
);

-- CreateTable
CREATE TABLE "releases" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "released_by_id" UUID NOT NULL,
    "points" DECIMAL(16,1) NOT NULL,
    "of_points" BIGINT NOT NULL,
    "comment" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "to_candidate" BOOLEAN NOT NULL,
    "grades" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "releases_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "grades_question_idx" ON "grades"("organization_id", "submission_id", "question_number", "updated_at", "id");

-- CreateIndex
CREATE INDEX "grades_grader_idx" ON "grades"("organization_id", "grader_id");

-- CreateIndex
CREATE INDEX "grade_viewers_submission_idx" ON "grade_viewers"("organization_id", "submission_id");

-- CreateIndex
CREATE INDEX "grade_viewers_member_idx" ON "grade_viewers"("organization_id", "member_id");

-- CreateIndex
CREATE INDEX "releases_released_by_idx" ON "releases"("organization_id", "released_by_id");

-- CreateIndex
CREATE UNIQUE INDEX "releases_version_key" ON "releases"("organization_id", "submission_id", "version");

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_grader_fkey" FOREIGN KEY ("organization_id", "grader_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_second_grader_fkey" FOREIGN KEY ("organization_id", "second_grader_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "grades" ADD CONSTRAINT "grades_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "grades" ADD CONSTRAINT "grades_question_fkey" FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "paper_questions"("organization_id", "submission_id", "number") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "grades" ADD CONSTRAINT "grades_grader_fkey" FOREIGN KEY ("organization_id", "grader_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "grade_viewers" ADD CONSTRAINT "grade_viewers_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "grade_viewers" ADD CONSTRAINT "grade_viewers_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "releases" ADD CONSTRAINT "releases_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "releases" ADD CONSTRAINT "releases_released_by_fkey" FOREIGN KEY ("organization_id", "released_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

ALTER TABLE "grades" ADD CONSTRAINT "grades_round_check" CHECK ("round" BETWEEN 1 AND 3);
ALTER TABLE "grades" ADD CONSTRAINT "grades_points_check" CHECK ("points" >= 0 AND "points" * 2 = trunc("points" * 2));

-- Who grades a submission is whom its invite is assigned to, whoever writes that: a request, an import, a process of the release before.
CREATE FUNCTION "copy_grader"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.grader_id := (SELECT assigned_grader_id FROM invites WHERE organization_id = NEW.organization_id AND id = NEW.invite_id);
  RETURN NEW;
END $$;
CREATE TRIGGER "submissions_inserted" BEFORE INSERT ON "submissions" FOR EACH ROW EXECUTE FUNCTION "copy_grader"();

CREATE FUNCTION "follow_grader"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE submissions SET grader_id = NEW.assigned_grader_id
  WHERE organization_id = NEW.organization_id AND invite_id = NEW.id AND grader_id IS DISTINCT FROM NEW.assigned_grader_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "invites_grader_changed" AFTER UPDATE OF "assigned_grader_id" ON "invites"
  FOR EACH ROW WHEN (OLD.assigned_grader_id IS DISTINCT FROM NEW.assigned_grader_id) EXECUTE FUNCTION "follow_grader"();

UPDATE "submissions" SET "grader_id" = i.assigned_grader_id
FROM "invites" i
WHERE i.organization_id = submissions.organization_id AND i.id = submissions.invite_id AND i.assigned_grader_id IS NOT NULL;
