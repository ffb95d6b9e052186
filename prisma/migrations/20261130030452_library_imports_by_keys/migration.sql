-- An import by an API key without a creator has no member.
ALTER TABLE "library_imports" ALTER COLUMN "created_by_id" DROP NOT NULL;
