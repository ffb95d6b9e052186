-- Since when the portal offers an assessment for no new invite.
ALTER TABLE "assessments" ADD COLUMN "archived_at" TIMESTAMPTZ(3);
