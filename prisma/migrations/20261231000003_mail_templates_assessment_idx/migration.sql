-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "mail_templates_assessment_idx" ON "mail_templates"("organization_id", "assessment_id");
