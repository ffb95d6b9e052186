-- CreateIndex
CREATE INDEX "invites_assessment_status_idx" ON "invites"("organization_id", "assessment_id", "status", "id");

-- CreateIndex
CREATE INDEX "invites_assessment_expires_at_idx" ON "invites"("organization_id", "assessment_id", "expires_at", "id");

-- CreateIndex
CREATE INDEX "invites_status_expires_at_idx" ON "invites"("organization_id", "status", "expires_at", "id");

-- CreateIndex
CREATE INDEX "invites_assessment_status_sent_at_idx" ON "invites"("organization_id", "assessment_id", "status", "sent_at", "id");

-- CreateIndex
CREATE INDEX "invites_assessment_status_expires_at_idx" ON "invites"("organization_id", "assessment_id", "status", "expires_at", "id");

-- By hand: which of an organization's invites the clock ends next is the first entry of its part. The sweep skips from part to part.
DROP INDEX "invites_due_idx";
CREATE INDEX "invites_due_idx" ON "invites" ("organization_id", "expires_at") WHERE "status" IN ('pending', 'accepted');
