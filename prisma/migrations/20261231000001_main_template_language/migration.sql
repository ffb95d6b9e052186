-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "main_template_language" TEXT;
