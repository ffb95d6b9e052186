-- By hand: every process is to look up keys anew once their organization has changed from where they may be used.
CREATE TRIGGER "organization_security_keys_changed"
  AFTER INSERT OR DELETE OR UPDATE OF "key_networks" ON "organization_security"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
