ALTER TABLE "sign_in_providers" ADD COLUMN "ends_at_idp" BOOLEAN NOT NULL DEFAULT false;
