-- The counts of assessments are found by the key that names the organization.
CREATE OR REPLACE FUNCTION count_invites() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, mode, status, slot, count)
  SELECT organization_id, assessment_id, mode, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3, 4
  ON CONFLICT (organization_id, assessment_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, mode, status, slot, count)
  SELECT organization_id, mode, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  IF TG_OP = 'INSERT' THEN
    INSERT INTO organization_invite_days AS kept (organization_id, mode, day, slot, invited)
    SELECT organization_id, mode, utc_day(created_at), own, count(*) FROM changed WHERE completed_at IS NULL GROUP BY 1, 2, 3
    ON CONFLICT (organization_id, mode, day, slot) DO UPDATE SET invited = kept.invited + excluded.invited;
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_deleted_invites() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, mode, status, slot, count)
  SELECT organization_id, assessment_id, mode, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM assessments WHERE (assessments.organization_id, assessments.id) = (changed.organization_id, changed.assessment_id)) GROUP BY 1, 2, 3, 4
  ON CONFLICT (organization_id, assessment_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, mode, status, slot, count)
  SELECT organization_id, mode, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;
