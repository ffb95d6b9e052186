-- no-transaction
-- The tags that invites had before the triggers of the migration before: some thousand at a time, and none that somebody else is changing.
-- That one's trigger sees to it; if it is rolled back, the next pass does.
DO $$
DECLARE
  before CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  after uuid := before;
  until uuid;
BEGIN
  LOOP
    SELECT invite_id INTO until
    FROM (SELECT invite_id FROM invite_tags WHERE invite_id > after ORDER BY invite_id LIMIT 5000) AS batch ORDER BY 1 DESC LIMIT 1;
    EXIT WHEN until IS NULL AND NOT EXISTS (SELECT FROM invite_tags WHERE sent_at IS NULL);
    WITH lacking AS MATERIALIZED (
      SELECT invite_id, tag_id FROM invite_tags
      WHERE invite_id > after AND invite_id <= until AND sent_at IS NULL FOR UPDATE SKIP LOCKED
    )
    UPDATE invite_tags AS tag SET status = i.status, sent_at = i.sent_at, expires_at = i.expires_at
    FROM lacking JOIN invites AS i ON i.id = lacking.invite_id
    WHERE tag.invite_id = lacking.invite_id AND tag.tag_id = lacking.tag_id;
    COMMIT;
    after := coalesce(until, before);
  END LOOP;
END
$$;
