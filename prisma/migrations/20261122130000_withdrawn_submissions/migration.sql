-- AlterEnum
ALTER TYPE "submission_state" ADD VALUE 'withdrawn';
