-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "questions_library_idx" ON "questions"("organization_id", "library_question_id");
