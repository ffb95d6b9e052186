-- AlterTable
ALTER TABLE "invites" ADD COLUMN     "external_id" TEXT;
