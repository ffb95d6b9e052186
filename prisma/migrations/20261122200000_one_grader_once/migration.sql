-- Nobody grades twice: a second grader to whom the invite is assigned, by whatever way, is the first from then on, and the second is missing.
CREATE OR REPLACE FUNCTION "follow_grader"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE submissions SET grader_id = NEW.assigned_grader_id, second_grader_id = NULLIF(second_grader_id, NEW.assigned_grader_id)
  WHERE organization_id = NEW.organization_id AND invite_id = NEW.id AND grader_id IS DISTINCT FROM NEW.assigned_grader_id;
  RETURN NULL;
END $$;

UPDATE "submissions" SET "second_grader_id" = NULL WHERE "second_grader_id" = "grader_id";
