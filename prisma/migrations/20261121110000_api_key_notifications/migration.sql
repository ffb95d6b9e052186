-- Every process remembers the keys it has looked up; a change of a key or of its organization tells them all to look again.
-- last_used_at is not among the columns: it changes all the time, and decides nothing.
CREATE FUNCTION "notify_api_keys_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('api_keys_changed', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER "api_keys_changed"
  AFTER DELETE OR UPDATE OF "hash", "mode", "expires_at", "revoked_at", "created_by_id" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
CREATE TRIGGER "organizations_changed"
  AFTER DELETE OR UPDATE OF "name", "tier" ON "organizations"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
