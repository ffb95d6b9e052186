-- AlterTable
ALTER TABLE "invite_emails" ADD COLUMN     "template_id" UUID;

-- CreateTable
CREATE TABLE "mail_templates" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "language" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "subject" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_templates_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE INDEX "mail_templates_created_by_idx" ON "mail_templates"("organization_id", "created_by_id");

-- CreateIndex
CREATE UNIQUE INDEX "mail_templates_version_key" ON "mail_templates"("organization_id", "language", "version");

-- AddForeignKey
ALTER TABLE "mail_templates" ADD CONSTRAINT "mail_templates_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mail_templates" ADD CONSTRAINT "mail_templates_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
