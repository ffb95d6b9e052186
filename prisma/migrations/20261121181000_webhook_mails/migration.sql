-- AlterTable
ALTER TABLE "member_emails" ADD COLUMN     "webhook_id" UUID;

-- CreateIndex
CREATE INDEX "member_emails_webhook_idx" ON "member_emails"("organization_id", "webhook_id");

-- AddForeignKey
ALTER TABLE "member_emails" ADD CONSTRAINT "member_emails_webhook_fkey" FOREIGN KEY ("organization_id", "webhook_id") REFERENCES "webhook_endpoints"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
