-- AlterTable
ALTER TABLE "paper_questions" ADD COLUMN     "source_language" TEXT,
ADD COLUMN     "target_language" TEXT;
