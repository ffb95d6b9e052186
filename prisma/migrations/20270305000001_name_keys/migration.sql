-- Names are compared by key columns that the application writes (src/domain/values/fold-text.ts): what lower() and ILIKE fold depends on the
-- database's locale, and differs from JavaScript.
ALTER TABLE "organizations" ADD COLUMN "name_key" TEXT;
UPDATE "organizations" SET "name_key" = lower("name");
ALTER TABLE "organizations" ALTER COLUMN "name_key" SET NOT NULL;
DROP INDEX "organizations_name_key";
CREATE UNIQUE INDEX "organizations_name_key" ON "organizations"("name_key");

ALTER TABLE "tags" ADD COLUMN "name_key" TEXT, ADD COLUMN "name_search" TEXT;
UPDATE "tags" SET "name_key" = lower("name"), "name_search" = lower("name");
ALTER TABLE "tags" ALTER COLUMN "name_key" SET NOT NULL, ALTER COLUMN "name_search" SET NOT NULL;
DROP INDEX "tags_name_key";
CREATE UNIQUE INDEX "tags_name_key" ON "tags"("organization_id", "name_key");

ALTER TABLE "assessments" ADD COLUMN "name_key" TEXT, ADD COLUMN "name_search" TEXT;
UPDATE "assessments" SET "name_key" = lower("name"), "name_search" = lower("name");
ALTER TABLE "assessments" ALTER COLUMN "name_key" SET NOT NULL, ALTER COLUMN "name_search" SET NOT NULL;
CREATE INDEX "assessments_name_key_idx" ON "assessments"("organization_id", "name_key");

ALTER TABLE "users" ADD COLUMN "first_name_key" TEXT, ADD COLUMN "last_name_key" TEXT, ADD COLUMN "search_key" TEXT;
UPDATE "users" SET "first_name_key" = lower("first_name"), "last_name_key" = lower("last_name"),
  "search_key" = lower("first_name" || E'\n' || "last_name" || E'\n' || "email");
ALTER TABLE "users" ALTER COLUMN "first_name_key" SET NOT NULL, ALTER COLUMN "last_name_key" SET NOT NULL, ALTER COLUMN "search_key" SET NOT NULL;

ALTER TABLE "library_questions" ADD COLUMN "name_words" TEXT[];
UPDATE "library_questions" SET "name_words" = regexp_split_to_array(lower("name"), '\W+');
DROP INDEX "library_questions_search_idx";
CREATE INDEX "library_questions_search_idx" ON "library_questions" USING GIN (array_to_tsvector("name_words"));

ALTER TABLE "invites" ADD COLUMN "recipient_name_search" TEXT;
UPDATE "invites" SET "recipient_name_search" = lower("recipient_name") WHERE "recipient_name" IS NOT NULL;

-- Addresses are stored with all but their ASCII letters folded (asStored in src/domain/checking/email-address.ts). These the database folds,
-- in every locale alike: in a Turkish one lower('I') is 'ı'.
CREATE FUNCTION "address_key"(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN lower(address COLLATE "C");

CREATE OR REPLACE FUNCTION "address_grams"(organization_id uuid, address text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
DECLARE
  folded CONSTANT text := lower(address COLLATE "C");
  own CONSTANT bigint := uuid_hash_extended(organization_id, 0);
  grams bigint[] := '{}';
BEGIN
  FOR i IN 1 .. length(folded) - 2 LOOP
    grams[i] := hashtextextended(substr(folded, i, 3), own);
  END LOOP;
  RETURN grams;
END
$$;

DROP INDEX "members_email_key";
CREATE UNIQUE INDEX "members_email_key" ON "members" ("organization_id", address_key("email"));
DROP INDEX "credentials_email_key";
CREATE UNIQUE INDEX "credentials_email_key" ON "credentials" (address_key("email"));
DROP INDEX "invites_address_key";
CREATE UNIQUE INDEX "invites_address_key" ON "invites" ("organization_id", address_key("recipient_email"), "assessment_id", "mode", "attempt");
DROP INDEX "invites_candidate_idx";
CREATE INDEX "invites_candidate_idx" ON "invites" ("organization_id", "mode", address_key("recipient_email"), "sent_at" DESC, "id" DESC);
DROP INDEX "invites_address_grams_idx";
CREATE INDEX "invites_address_grams_idx" ON "invites" USING gin (address_grams("organization_id", "recipient_email")) WITH (gin_pending_list_limit = 256);
DROP INDEX "invites_name_grams_idx";
CREATE INDEX "invites_name_grams_idx" ON "invites" USING gin (address_grams("organization_id", "recipient_name_search")) WITH (gin_pending_list_limit = 256);
