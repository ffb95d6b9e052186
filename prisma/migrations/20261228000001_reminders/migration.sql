-- AlterTable
ALTER TABLE "assessments" ADD COLUMN     "released_mail" BOOLEAN,
ADD COLUMN     "submitted_mail" BOOLEAN;

-- AlterTable
ALTER TABLE "invite_emails" ADD COLUMN     "dedupe_key" TEXT,
ADD COLUMN     "language" TEXT;

-- AlterTable
ALTER TABLE "invites" ADD COLUMN     "reminders_off" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "member_emails" ADD COLUMN     "dedupe_key" TEXT,
ADD COLUMN     "facts" JSONB;

-- AlterTable
ALTER TABLE "members" ADD COLUMN     "notices" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "candidate_mails" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "dead_addresses_seen_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "reminder_rules" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID,
    "steps" JSONB NOT NULL,
    "quiet_from" SMALLINT NOT NULL DEFAULT 20,
    "quiet_until" SMALLINT NOT NULL DEFAULT 8,
    "on_days_off" BOOLEAN NOT NULL DEFAULT false,
    "active_since" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reminder_rules_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "reminder_rules_assessment_key" ON "reminder_rules"("organization_id", "assessment_id") NULLS NOT DISTINCT;

-- AddForeignKey
ALTER TABLE "reminder_rules" ADD CONSTRAINT "reminder_rules_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reminder_rules" ADD CONSTRAINT "reminder_rules_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
