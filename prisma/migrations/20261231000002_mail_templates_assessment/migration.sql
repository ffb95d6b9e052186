-- AlterTable
ALTER TABLE "mail_templates" ADD COLUMN     "assessment_id" UUID;

-- AddForeignKey
ALTER TABLE "mail_templates" ADD CONSTRAINT "mail_templates_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
