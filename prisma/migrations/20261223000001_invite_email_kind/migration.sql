-- AlterTable
ALTER TABLE "invite_emails" ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'invitation';
