ALTER TABLE "assessments" ADD COLUMN "practice" BOOLEAN NOT NULL DEFAULT false;
