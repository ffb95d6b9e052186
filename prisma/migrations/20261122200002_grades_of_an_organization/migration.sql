-- Of an organization that is deleted, the members may go only once nothing refers to them: what does goes with the organization itself, not
-- only with its submissions, which is later.

-- AddForeignKey
ALTER TABLE "grades" ADD CONSTRAINT "grades_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "releases" ADD CONSTRAINT "releases_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
