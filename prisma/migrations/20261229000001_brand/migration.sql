-- Nullable: no row is written.
ALTER TABLE "organizations" ADD COLUMN "background_color" TEXT,
  ADD COLUMN "logo_hash" TEXT,
  ADD COLUMN "logo_height" INTEGER,
  ADD COLUMN "logo_width" INTEGER,
  ADD COLUMN "primary_color" TEXT;
