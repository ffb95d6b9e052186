-- What a key is restricted to, and from where it may be used. A restricted key is stored under another hash, which the release before
-- does not look for: there it would be one without limits.
ALTER TABLE "api_keys" ADD COLUMN "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "is_stored_restricted" BOOLEAN NOT NULL DEFAULT false;

-- By hand: every process is to look up a key whose restrictions have changed.
DROP TRIGGER "api_keys_changed" ON "api_keys";
CREATE TRIGGER "api_keys_changed"
  AFTER DELETE OR UPDATE OF "hash", "mode", "expires_at", "revoked_at", "created_by_id", "previous_hash", "previous_expires_at", "rights", "requests_per_minute", "scopes", "networks" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
