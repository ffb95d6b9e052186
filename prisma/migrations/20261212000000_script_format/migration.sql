-- A constant default: no row is written.
ALTER TABLE "questions" ADD COLUMN "script_format" TEXT NOT NULL DEFAULT 'plain';
ALTER TABLE "paper_questions" ADD COLUMN "script_format" TEXT NOT NULL DEFAULT 'plain';
