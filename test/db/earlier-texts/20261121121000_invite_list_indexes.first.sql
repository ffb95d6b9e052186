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
