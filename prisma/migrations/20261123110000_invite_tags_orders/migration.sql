-- AlterTable
ALTER TABLE "invite_tags" ADD COLUMN "expires_at" TIMESTAMPTZ(3),
ADD COLUMN "sent_at" TIMESTAMPTZ(3),
ADD COLUMN "status" "invite_status";

-- From here on by hand: these follow the invite, whoever writes it or tags it.

-- Locked, so that the invite does not change while nobody else sees yet that it has the tag.
CREATE FUNCTION "order_invite_tag"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT status, sent_at, expires_at INTO NEW.status, NEW.sent_at, NEW.expires_at
  FROM invites WHERE id = NEW.invite_id FOR SHARE;
  RETURN NEW;
END
$$;
CREATE TRIGGER "invite_tags_ordered" BEFORE INSERT ON "invite_tags" FOR EACH ROW EXECUTE FUNCTION "order_invite_tag"();

CREATE FUNCTION "order_tags_of_invite"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE invite_tags SET status = NEW.status, sent_at = NEW.sent_at, expires_at = NEW.expires_at WHERE invite_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER "invites_reordered" AFTER UPDATE ON "invites" FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.sent_at IS DISTINCT FROM NEW.sent_at OR OLD.expires_at IS DISTINCT FROM NEW.expires_at)
  EXECUTE FUNCTION "order_tags_of_invite"();
