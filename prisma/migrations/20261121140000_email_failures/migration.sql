-- CreateEnum
CREATE TYPE "email_failure" AS ENUM ('obsolete', 'refused', 'given_up');

-- AlterTable
ALTER TABLE "invite_emails" ADD COLUMN "failure" "email_failure";
