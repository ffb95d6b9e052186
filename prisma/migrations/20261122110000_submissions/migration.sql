-- CreateEnum
CREATE TYPE "submission_state" AS ENUM ('preparing', 'in_progress', 'submitted', 'released');

-- CreateEnum
CREATE TYPE "take_kind" AS ENUM ('text', 'audio', 'video');

-- CreateEnum
CREATE TYPE "take_state" AS ENUM ('recording', 'complete', 'abandoned');

-- CreateEnum
CREATE TYPE "media_kind" AS ENUM ('answer', 'id_photo', 'face_photo', 'webcam_still', 'webcam', 'screen');

-- CreateEnum
CREATE TYPE "media_state" AS ENUM ('uploading', 'joining', 'ready', 'failed', 'deleted');

-- AlterTable
ALTER TABLE "invites" ADD COLUMN     "waived_checks" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "submissions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "state" "submission_state" NOT NULL DEFAULT 'preparing',
    "consent_version" SMALLINT,
    "consent_media" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "consent_at" TIMESTAMPTZ(3),
    "passed_checks" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "user_agent" TEXT NOT NULL DEFAULT '',
    "question_replay_limit" INTEGER NOT NULL,
    "answer_record_limit" INTEGER NOT NULL,
    "tab" UUID,
    "media_bytes" BIGINT NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3),
    "submitted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "submissions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "paper_questions" (
    "submission_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "question_id" UUID NOT NULL,
    "input_type" TEXT NOT NULL,
    "response_type" TEXT NOT NULL,
    "script" TEXT NOT NULL,
    "audio_url" TEXT NOT NULL,
    "video_url" TEXT NOT NULL,
    "points" INTEGER NOT NULL,
    "time_limit" INTEGER NOT NULL,
    "plays" INTEGER NOT NULL DEFAULT 0,
    "opened_at" TIMESTAMPTZ(3),
    "closes_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "paper_questions_pkey" PRIMARY KEY ("submission_id","number")
);

-- CreateTable
CREATE TABLE "takes" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "kind" "take_kind" NOT NULL,
    "state" "take_state" NOT NULL,
    "text" TEXT NOT NULL DEFAULT '',
    "revision" INTEGER NOT NULL DEFAULT 0,
    "media_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "takes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "media" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "kind" "media_kind" NOT NULL,
    "state" "media_state" NOT NULL,
    "key" TEXT NOT NULL,
    "content_type" TEXT NOT NULL DEFAULT '',
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "milliseconds" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "media_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "media_parts" (
    "media_id" UUID NOT NULL,
    "segment" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "media_parts_pkey" PRIMARY KEY ("media_id","segment","number")
);

-- CreateTable
CREATE TABLE "session_notes" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_notes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "submissions_invite_idx" ON "submissions"("organization_id", "invite_id");

-- CreateIndex
CREATE INDEX "submissions_assessment_idx" ON "submissions"("organization_id", "assessment_id", "id");

-- CreateIndex
CREATE INDEX "submissions_state_idx" ON "submissions"("organization_id", "state", "submitted_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "submissions_organization_id_key" ON "submissions"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "paper_questions_organization_id_key" ON "paper_questions"("organization_id", "submission_id", "number");

-- CreateIndex
CREATE INDEX "takes_question_idx" ON "takes"("organization_id", "submission_id", "question_number", "created_at", "id");

-- CreateIndex
CREATE INDEX "takes_media_idx" ON "takes"("organization_id", "media_id");

-- CreateIndex
CREATE INDEX "media_submission_idx" ON "media"("organization_id", "submission_id", "kind", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "media_organization_id_key" ON "media"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "media_key_key" ON "media"("key");

-- CreateIndex
CREATE INDEX "media_parts_organization_idx" ON "media_parts"("organization_id", "media_id");

-- CreateIndex
CREATE INDEX "session_notes_submission_idx" ON "session_notes"("organization_id", "submission_id", "at", "id");

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_invite_fkey" FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "paper_questions" ADD CONSTRAINT "paper_questions_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "takes" ADD CONSTRAINT "takes_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "takes" ADD CONSTRAINT "takes_question_fkey" FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "paper_questions"("organization_id", "submission_id", "number") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "takes" ADD CONSTRAINT "takes_media_fkey" FOREIGN KEY ("organization_id", "media_id") REFERENCES "media"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "media" ADD CONSTRAINT "media_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "media_parts" ADD CONSTRAINT "media_parts_media_fkey" FOREIGN KEY ("organization_id", "media_id") REFERENCES "media"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "session_notes" ADD CONSTRAINT "session_notes_submission_fkey" FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

-- A candidate prepares once at a time, and has one text for a question.
CREATE UNIQUE INDEX "submissions_preparing_key" ON "submissions" ("organization_id", "invite_id") WHERE "state" = 'preparing';
CREATE UNIQUE INDEX "takes_text_key" ON "takes" ("submission_id", "question_number") WHERE "kind" = 'text';

-- What runs out by the clock.
CREATE INDEX "submissions_deadline_idx" ON "submissions" ("deadline_at") WHERE "state" = 'in_progress' AND "deadline_at" IS NOT NULL;
CREATE INDEX "media_unfinished_idx" ON "media" ("created_at") WHERE "state" IN ('uploading', 'joining');
CREATE INDEX "media_kept_idx" ON "media" ("kind", "created_at") WHERE "state" <> 'deleted';
