-- Files are written part by part, so that the service never holds one whole.
ALTER TABLE "library_imports" ADD COLUMN "is_loading" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "invite_batches" ADD COLUMN "is_loading" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "library_imports" ADD COLUMN "unused_columns" TEXT[];
