-- Names the channel on mails that were finished before 0008. In a transaction of its own, because it writes many rows:
-- its locks let other processes create, claim and record deliveries meanwhile.

update deliveries set channel = 'mail' where endpoint_id is null and channel <> 'mail';

alter table deliveries validate constraint deliveries_channel_has_destination;
