-- AlterTable
ALTER TABLE "users" ADD COLUMN     "is_unchecked" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "credentials" ADD COLUMN     "is_unchecked" BOOLEAN NOT NULL DEFAULT true;

-- From here on by hand: whoever takes a membership from an account, the sweep looks whether it has any left. All that are there are looked at once.

CREATE FUNCTION "uncheck_accounts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE users SET is_unchecked = true WHERE id = OLD.user_id;
  UPDATE credentials SET is_unchecked = true WHERE id = OLD.credential_id;
  RETURN NULL;
END
$$;

CREATE TRIGGER "members_deleted_accounts" AFTER DELETE ON "members"
  FOR EACH ROW EXECUTE FUNCTION "uncheck_accounts"();
CREATE TRIGGER "members_moved_accounts" AFTER UPDATE ON "members"
  FOR EACH ROW WHEN (OLD.user_id <> NEW.user_id OR OLD.credential_id <> NEW.credential_id OR NEW.credential_id IS NULL AND OLD.credential_id IS NOT NULL)
  EXECUTE FUNCTION "uncheck_accounts"();
