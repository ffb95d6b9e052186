-- Settings of a provider that wait to be tried, while those before go on.
ALTER TABLE "sign_in_providers" ADD COLUMN "draft" BYTEA;
