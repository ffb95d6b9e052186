-- How members want pages to be; null: as their browser says, and the fewest rows.
ALTER TABLE "members" ADD COLUMN "time_zone" TEXT,
ADD COLUMN "page_size" INTEGER;
