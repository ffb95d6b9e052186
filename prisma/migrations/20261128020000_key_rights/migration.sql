-- What a key may do besides what all keys may, how many requests a minute are its own, and from where it was used last.
ALTER TABLE "api_keys" ADD COLUMN "rights" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "requests_per_minute" INTEGER,
ADD COLUMN "last_used_from" TEXT;

-- By hand: a limit of none would refuse everything, and revoking says that better.
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_requests_per_minute_check" CHECK ("requests_per_minute" > 0);

-- By hand: a key whose rights or limit have changed is to be looked up again by every process.
DROP TRIGGER "api_keys_changed" ON "api_keys";
CREATE TRIGGER "api_keys_changed"
  AFTER DELETE OR UPDATE OF "hash", "mode", "expires_at", "revoked_at", "created_by_id", "previous_hash", "previous_expires_at", "rights", "requests_per_minute" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
