-- CreateEnum
CREATE TYPE "tier" AS ENUM ('standard', 'enterprise');

-- CreateEnum
CREATE TYPE "key_mode" AS ENUM ('live', 'test');

-- CreateEnum
CREATE TYPE "member_status" AS ENUM ('active', 'inactive');

-- CreateEnum
CREATE TYPE "media_format" AS ENUM ('text', 'audio', 'video', 'mixed');

-- CreateEnum
CREATE TYPE "audience" AS ENUM ('invite_only', 'public');

-- CreateEnum
CREATE TYPE "invite_status" AS ENUM ('accepted', 'completed', 'expired', 'pending', 'revoked', 'started');

-- CreateEnum
CREATE TYPE "email_state" AS ENUM ('queued', 'sent', 'captured', 'failed');

-- CreateTable
CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "tier" "tier" NOT NULL DEFAULT 'standard',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "mode" "key_mode" NOT NULL,
    "hash" BYTEA NOT NULL,
    "last_four" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "first_name" TEXT NOT NULL,
    "last_name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "avatar_url" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "members" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "roles" TEXT[],
    "status" "member_status" NOT NULL DEFAULT 'active',
    "department" TEXT NOT NULL DEFAULT '',
    "can_view_transcription" BOOLEAN NOT NULL DEFAULT false,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "members_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "languages" (
    "id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "languages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "categories" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "categories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "instructions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "title" TEXT NOT NULL DEFAULT '',
    "body" TEXT NOT NULL,

    CONSTRAINT "instructions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tags" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "color" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "icon" TEXT,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tags_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assessments" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "default_question_format" "media_format" NOT NULL DEFAULT 'text',
    "default_answer_format" "media_format" NOT NULL DEFAULT 'text',
    "audience" "audience" NOT NULL DEFAULT 'invite_only',
    "time_limit" INTEGER NOT NULL DEFAULT 0,
    "skill_types" TEXT[],
    "instruction_id" UUID,
    "created_by_id" UUID,
    "question_count" INTEGER NOT NULL DEFAULT 0,
    "total_points" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "assessments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "questions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "order" INTEGER NOT NULL,
    "input_type" TEXT NOT NULL,
    "script" TEXT NOT NULL DEFAULT '',
    "audio_url" TEXT NOT NULL DEFAULT '',
    "video_url" TEXT NOT NULL DEFAULT '',
    "response_type" TEXT NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "time_limit" INTEGER NOT NULL DEFAULT 0,
    "source_language" TEXT,
    "target_language" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "questions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invites" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "recipient_email" TEXT NOT NULL,
    "recipient_name" TEXT,
    "status" "invite_status" NOT NULL,
    "question_replay_limit" INTEGER NOT NULL,
    "answer_record_limit" INTEGER NOT NULL,
    "screen_recording" BOOLEAN NOT NULL,
    "webcam_monitoring" BOOLEAN NOT NULL,
    "require_id_capture" BOOLEAN NOT NULL,
    "face_photo_required" BOOLEAN NOT NULL,
    "custom_message" TEXT NOT NULL DEFAULT '',
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "link_version" INTEGER NOT NULL DEFAULT 1,
    "assessment_session" UUID,
    "assigned_grader_id" UUID,
    "created_by_id" UUID,
    "created_by_key_id" UUID,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invites_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invite_emails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "link_version" INTEGER NOT NULL,
    "state" "email_state" NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "reason" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "invite_emails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assessment_languages" (
    "assessment_id" UUID NOT NULL,
    "language_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_languages_pkey" PRIMARY KEY ("assessment_id","language_id")
);

-- CreateTable
CREATE TABLE "assessment_categories" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "category_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_categories_pkey" PRIMARY KEY ("assessment_id","category_id")
);

-- CreateTable
CREATE TABLE "assessment_clients" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_clients_pkey" PRIMARY KEY ("assessment_id","member_id")
);

-- CreateTable
CREATE TABLE "assessment_tags" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_tags_pkey" PRIMARY KEY ("assessment_id","tag_id")
);

-- CreateTable
CREATE TABLE "member_tags" (
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "member_tags_pkey" PRIMARY KEY ("member_id","tag_id")
);

-- CreateTable
CREATE TABLE "member_grading_languages" (
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "language_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "member_grading_languages_pkey" PRIMARY KEY ("member_id","language_id")
);

-- CreateTable
CREATE TABLE "invite_tags" (
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "invite_tags_pkey" PRIMARY KEY ("invite_id","tag_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_organization_id_key" ON "api_keys"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_name_key" ON "api_keys"("organization_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "users_id_email_key" ON "users"("id", "email");

-- CreateIndex
CREATE INDEX "members_joined_at_idx" ON "members"("organization_id", "joined_at", "id");

-- CreateIndex
CREATE INDEX "members_email_idx" ON "members"("organization_id", "email", "id");

-- CreateIndex
CREATE INDEX "members_created_at_idx" ON "members"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "members_user_idx" ON "members"("user_id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "members_organization_id_key" ON "members"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "languages_code_key" ON "languages"("code");

-- CreateIndex
CREATE UNIQUE INDEX "categories_organization_id_key" ON "categories"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "categories_name_key" ON "categories"("organization_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "instructions_organization_id_key" ON "instructions"("organization_id", "id");

-- CreateIndex
CREATE INDEX "tags_name_idx" ON "tags"("organization_id", "name", "id");

-- CreateIndex
CREATE INDEX "tags_created_at_idx" ON "tags"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "tags_updated_at_idx" ON "tags"("organization_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "tags_created_by_idx" ON "tags"("organization_id", "created_by_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "tags_organization_id_key" ON "tags"("organization_id", "id");

-- CreateIndex
CREATE INDEX "assessments_created_at_idx" ON "assessments"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessments_updated_at_idx" ON "assessments"("organization_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "assessments_name_idx" ON "assessments"("organization_id", "name", "id");

-- CreateIndex
CREATE INDEX "assessments_created_by_idx" ON "assessments"("organization_id", "created_by_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessments_audience_idx" ON "assessments"("organization_id", "audience", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessments_question_count_idx" ON "assessments"("organization_id", "question_count", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessments_question_format_idx" ON "assessments"("organization_id", "default_question_format", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessments_answer_format_idx" ON "assessments"("organization_id", "default_answer_format", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessments_instruction_idx" ON "assessments"("organization_id", "instruction_id");

-- CreateIndex
CREATE UNIQUE INDEX "assessments_organization_id_key" ON "assessments"("organization_id", "id");

-- CreateIndex
CREATE INDEX "questions_order_idx" ON "questions"("organization_id", "assessment_id", "order", "id");

-- CreateIndex
CREATE INDEX "questions_created_at_idx" ON "questions"("organization_id", "assessment_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "questions_points_idx" ON "questions"("organization_id", "assessment_id", "points", "id");

-- CreateIndex
CREATE INDEX "invites_sent_at_idx" ON "invites"("organization_id", "sent_at", "id");

-- CreateIndex
CREATE INDEX "invites_status_idx" ON "invites"("organization_id", "status", "id");

-- CreateIndex
CREATE INDEX "invites_expires_at_idx" ON "invites"("organization_id", "expires_at", "id");

-- CreateIndex
CREATE INDEX "invites_created_at_idx" ON "invites"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "invites_assessment_sent_at_idx" ON "invites"("organization_id", "assessment_id", "sent_at", "id");

-- CreateIndex
CREATE INDEX "invites_status_sent_at_idx" ON "invites"("organization_id", "status", "sent_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "invites_organization_id_key" ON "invites"("organization_id", "id");

-- CreateIndex
CREATE INDEX "invite_emails_invite_idx" ON "invite_emails"("organization_id", "invite_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "invite_emails_state_idx" ON "invite_emails"("state", "created_at", "id");

-- CreateIndex
CREATE INDEX "assessment_languages_language_idx" ON "assessment_languages"("language_id");

-- CreateIndex
CREATE INDEX "assessment_categories_category_idx" ON "assessment_categories"("organization_id", "category_id");

-- CreateIndex
CREATE INDEX "assessment_clients_member_idx" ON "assessment_clients"("organization_id", "member_id");

-- CreateIndex
CREATE INDEX "assessment_tags_tag_idx" ON "assessment_tags"("organization_id", "tag_id");

-- CreateIndex
CREATE INDEX "member_tags_tag_idx" ON "member_tags"("organization_id", "tag_id");

-- CreateIndex
CREATE INDEX "member_grading_languages_language_idx" ON "member_grading_languages"("language_id");

-- CreateIndex
CREATE INDEX "invite_tags_tag_idx" ON "invite_tags"("organization_id", "tag_id");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_user_fkey" FOREIGN KEY ("user_id", "email") REFERENCES "users"("id", "email") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "categories" ADD CONSTRAINT "categories_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "instructions" ADD CONSTRAINT "instructions_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tags" ADD CONSTRAINT "tags_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tags" ADD CONSTRAINT "tags_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_instruction_fkey" FOREIGN KEY ("organization_id", "instruction_id") REFERENCES "instructions"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "questions" ADD CONSTRAINT "questions_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "questions" ADD CONSTRAINT "questions_source_language_fkey" FOREIGN KEY ("source_language") REFERENCES "languages"("code") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "questions" ADD CONSTRAINT "questions_target_language_fkey" FOREIGN KEY ("target_language") REFERENCES "languages"("code") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invites" ADD CONSTRAINT "invites_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invites" ADD CONSTRAINT "invites_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invites" ADD CONSTRAINT "invites_assigned_grader_fkey" FOREIGN KEY ("organization_id", "assigned_grader_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invites" ADD CONSTRAINT "invites_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invites" ADD CONSTRAINT "invites_created_by_key_fkey" FOREIGN KEY ("organization_id", "created_by_key_id") REFERENCES "api_keys"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invite_emails" ADD CONSTRAINT "invite_emails_invite_fkey" FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_languages" ADD CONSTRAINT "assessment_languages_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_languages" ADD CONSTRAINT "assessment_languages_language_fkey" FOREIGN KEY ("language_id") REFERENCES "languages"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_categories" ADD CONSTRAINT "assessment_categories_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_categories" ADD CONSTRAINT "assessment_categories_category_fkey" FOREIGN KEY ("organization_id", "category_id") REFERENCES "categories"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_clients" ADD CONSTRAINT "assessment_clients_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_clients" ADD CONSTRAINT "assessment_clients_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_tags" ADD CONSTRAINT "assessment_tags_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "assessment_tags" ADD CONSTRAINT "assessment_tags_tag_fkey" FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "member_tags" ADD CONSTRAINT "member_tags_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "member_tags" ADD CONSTRAINT "member_tags_tag_fkey" FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "member_grading_languages" ADD CONSTRAINT "member_grading_languages_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "member_grading_languages" ADD CONSTRAINT "member_grading_languages_language_fkey" FOREIGN KEY ("language_id") REFERENCES "languages"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invite_tags" ADD CONSTRAINT "invite_tags_invite_fkey" FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invite_tags" ADD CONSTRAINT "invite_tags_tag_fkey" FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

-- Names and addresses are unique whatever their case; the text is kept as given.
CREATE UNIQUE INDEX "organizations_name_key" ON "organizations" (lower("name"));
CREATE UNIQUE INDEX "members_email_key" ON "members" ("organization_id", lower("email"));
CREATE UNIQUE INDEX "tags_name_key" ON "tags" ("organization_id", lower("name"));
CREATE UNIQUE INDEX "invites_recipient_key" ON "invites" ("assessment_id", lower("recipient_email"));

-- What the clock will expire next: the sweep and every list look here, and only here.
CREATE INDEX "invites_due_idx" ON "invites" ("organization_id", "expires_at") WHERE "status" IN ('pending', 'accepted');

ALTER TABLE "invites"
  ADD CONSTRAINT "invites_question_replay_limit_check" CHECK ("question_replay_limit" >= 1),
  ADD CONSTRAINT "invites_answer_record_limit_check" CHECK ("answer_record_limit" >= 1);

-- question_count and total_points of an assessment follow its questions, whoever writes them.
CREATE FUNCTION "count_questions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assessments a
  SET question_count = a.question_count + delta.questions, total_points = a.total_points + delta.points
  FROM (
    SELECT assessment_id, sum(questions)::int AS questions, sum(points)::int AS points
    FROM (
      SELECT NEW.assessment_id, 1 AS questions, NEW.points WHERE TG_OP IN ('INSERT', 'UPDATE')
      UNION ALL
      SELECT OLD.assessment_id, -1, -OLD.points WHERE TG_OP IN ('UPDATE', 'DELETE')
    ) AS change
    GROUP BY assessment_id
  ) AS delta
  WHERE a.id = delta.assessment_id AND (delta.questions <> 0 OR delta.points <> 0);
  RETURN NULL;
END
$$;
CREATE TRIGGER "questions_count" AFTER INSERT OR UPDATE OR DELETE ON "questions" FOR EACH ROW EXECUTE FUNCTION "count_questions"();
